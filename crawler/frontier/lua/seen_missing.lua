-- Find the keys that are not in the seen-set.
-- ARGV: prefix of the shards' names, then shard, number, shard, number, ... of each key
-- Returns the positions (1, 2, ...) of the missing keys.
local unseen = {}
for i = 2, #ARGV, 2 do
  if redis.call('SISMEMBER', ARGV[1] .. ARGV[i], ARGV[i + 1]) == 0 then unseen[#unseen + 1] = i / 2 end
end
return unseen
