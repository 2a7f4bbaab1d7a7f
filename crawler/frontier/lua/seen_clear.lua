-- Delete the seen-set.
-- ARGV: prefix of the shards' names, number of shards
-- Returns nothing.
local names = {}
for part = 0, tonumber(ARGV[2]) - 1 do
  names[#names + 1] = ARGV[1] .. part
  if #names == 4096 then -- a call for each shard takes four times as long; Lua passes at most 8,000 arguments
    redis.call('UNLINK', unpack(names))
    names = {}
  end
end
if #names > 0 then redis.call('UNLINK', unpack(names)) end
