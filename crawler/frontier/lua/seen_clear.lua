-- Delete the seen-set: the noted shards, or all of them unless these are certainly all it has.
-- KEYS: watermark, noted shards
-- ARGV: prefix of the shards' names, number of shards, 1 = all of them
-- Returns nothing.
local noted, shards = redis.call('SMEMBERS', KEYS[2]), {}
local is_whole = ARGV[3] ~= '1' and string.sub(redis.call('GET', KEYS[1]) or '', 1, 1) == '+'
local has_begun = false
for _, shard in ipairs(noted) do
  if shard == 'begun' then has_begun = true
  elseif shard == 'others' then is_whole = false
  else shards[#shards + 1] = shard end
end
if not (is_whole and has_begun) then
  shards = {}
  for shard = 0, tonumber(ARGV[2]) - 1 do shards[#shards + 1] = shard end
end
local names = {KEYS[2]}
for _, shard in ipairs(shards) do
  names[#names + 1] = ARGV[1] .. shard
  if #names == 4096 then -- a call for each shard takes four times as long; Lua passes at most 8,000 arguments
    redis.call('UNLINK', unpack(names))
    names = {}
  end
end
if #names > 0 then redis.call('UNLINK', unpack(names)) end
