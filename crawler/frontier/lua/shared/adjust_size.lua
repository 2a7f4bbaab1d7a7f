-- Adjust the maintained number of waiting pages, if it is known. If it was lost, `queue_size` recounts.
local function adjust_size(waiting, by)
  if by ~= 0 and redis.call('EXISTS', waiting) == 1 then redis.call('INCRBY', waiting, by) end
end
