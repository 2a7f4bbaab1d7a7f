-- Move the number of pages that wait, if it is known. Should it be forgotten, `waiting` counts anew.
local function tally(waiting, by)
  if by ~= 0 and redis.call('EXISTS', waiting) == 1 then redis.call('INCRBY', waiting, by) end
end
