-- reset: forgets what is counted for keys.
return redis.call('DEL', unpack(KEYS))
