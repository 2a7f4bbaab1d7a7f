-- Reserve the next moment a host may be asked, keeping its delay over all workers.
-- KEYS: next moment of the host
-- ARGV: now, delay in seconds, longest wait the caller accepts in seconds
-- Answers {reserved 1 or 0, moment as text}. When the wait would be too long nothing is reserved.
local now, delay, patience = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local moment = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
if moment - now > patience then return {0, string.format('%.6f', moment)} end
local following = moment + delay
redis.call('SET', KEYS[1], string.format('%.6f', following), 'EX', math.ceil(following - now) + 1)
return {1, string.format('%.6f', moment)}
