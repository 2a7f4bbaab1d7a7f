-- Delete the seen-set.
-- ARGV: prefix of the shards' names, number of shards
-- Returns nothing.
for part = 0, tonumber(ARGV[2]) - 1 do
  redis.call('UNLINK', ARGV[1] .. part)
end
