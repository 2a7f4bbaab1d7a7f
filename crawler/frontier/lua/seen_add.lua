-- Add keys to the seen-set, and note their shards: in a small crawl few shards have keys.
-- KEYS: noted shards
-- ARGV: prefix of the shards' names, most shards that are noted, then shard, number, shard, number, ... of each key
-- Returns nothing.
local shards = {}
for i = 3, #ARGV, 2 do
  redis.call('SADD', ARGV[1] .. ARGV[i], ARGV[i + 1])
  shards[#shards + 1] = ARGV[i]
end
if #shards == 0 or redis.call('SISMEMBER', KEYS[1], 'others') == 1 then return end
redis.call('SADD', KEYS[1], unpack(shards))
if redis.call('SCARD', KEYS[1]) > tonumber(ARGV[2]) then
  redis.call('DEL', KEYS[1])
  redis.call('SADD', KEYS[1], 'others')
end
