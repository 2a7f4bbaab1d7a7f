-- Forget all keys.
-- ARGV: start of the names of the seen-set's parts, number of parts
for part = 0, tonumber(ARGV[2]) - 1 do
  redis.call('UNLINK', ARGV[1] .. part)
end
