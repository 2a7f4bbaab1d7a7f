-- A call may come late: its worker was stopped, or cut off, and its kernel repeats for minutes what was not acknowledged.
-- It counts from the moment at which it is executed, so that it takes nothing for expired, or for written by a clock that
-- was set back, which calls made after it have left. More than an hour is not a delay: then the caller has another clock.
local function not_late(now)
  local time = redis.call('TIME')
  local late = tonumber(time[1]) + tonumber(time[2]) / 1000000 - now
  return late > 2 and late < 3600 and now + late or now
end
