-- Let a key end sooner.
-- KEYS: key
-- ARGV: milliseconds it may live at most
-- Answers 1 when it would have lived longer, 0 when not, or when there is no such key.
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
