-- Add keys to the seen-set.
-- ARGV: prefix of the shards' names, then shard, number, shard, number, ... of each key
-- Returns nothing.
for i = 2, #ARGV, 2 do
  redis.call('SADD', ARGV[1] .. ARGV[i], ARGV[i + 1])
end
