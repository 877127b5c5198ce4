-- probe: writes, since a server that can only be read cannot count.
return redis.call('SET', KEYS[1], '1', 'PX', 1000)
