-- The usual case comes first, since it can do without functions and tables: a
-- request with room for it, under one limit that keeps two counts at most and has
-- small products. All else, denials too, goes on below, where what follows here
-- is explained.
local id = ARGV[1]
local ttl, cost, print, flags, quota, w, n, span
if #KEYS == 1 and id ~= '' and #ARGV[2] > 56 and #ARGV[2] < 72 then
  ttl, cost, print, flags, quota, w, n, span = unpack('<sddddddd', ARGV[2])
end
if n == 1 and flags < 2 and quota * w < 4503599627370496 then
  local record = call('GET', KEYS[1])
  local into, room, rest, new = now % w, quota, '', 9
  local p, born, other, tail, more, from = (now - into) / w, nil, print, 53, 0, nil
  local newest, units, total, oldest, first, last = p, 0, 0, p, 0, now
  if record then
    if #record >= 61 then
      last, born, tail, new, other, newest, units, more, from = unpack('<ddI4I4dddI4', record)
      total, oldest, first = units, newest, units
      if more == 16 then
        first, oldest = unpack('<dd', record, from)
        total, oldest = total + first, newest - oldest
      end
      if total == 0 or p - newest >= span then
        newest, units, total, oldest = p, 0, 0, p
      elseif p - oldest >= span then
        total, oldest, first = units, newest, units
      end
      room = quota - total
      if flags == 1 and oldest < p and total > 0 then
        local weight = first * (w - into)
        local part = weight % w
        room = room + first - (weight - part) / w
        if part > 0 then room = room - 1 end
      end
    else
      room = -1
    end
  end
  if cost <= room and last <= now and other == print and tail == 53 + more and (more == 0 or more == 16)
    and (newest == p or newest == oldest) and not (record and find(record, id, tail, true)) then
    if record then
      local generation, before = floor(now / GENERATION), floor(last / GENERATION)
      if generation == before then
        rest, new = sub(record, tail, tail + MOST - 1), new + 9
      else
        local since = tail
        while sub(record, since + 8, since + 8) == '<' do since = since + 9 end
        rest = sub(record, tail, (generation == before + 1 and tail + new or since) - 1)
        new = 9 + since - tail
      end
    else
      born = unpack('<d', id)
    end
    if p == newest then
      units = units + cost
      if oldest == p then first = units end
    else
      first, newest, units = units, p, cost
    end
    total, room = total + cost, room - cost

    -- The first charge whose leaving makes room for more, or its share.
    local free, amount, gone, next = quota - room - 1 - total, first, nil, nil
    local at = oldest
    repeat
      free = free + amount
      if amount <= free then
        next = (gone - p) * w - into
      elseif flags == 1 and free >= 0 then
        next = (at + 2 - p) * w - floor(free * w / amount) - into
      elseif at == p then
        next = span * w - into
      else
        gone, at, amount = at + span, p, units
      end
    until next

    if oldest == p then
      record = pack('<ddI4I4dddI4', now, born, 53, new, print, p, units, 0)
    else
      record = pack('<ddI4I4dddI4dd', now, born, 69, new, print, p, units, 16, first, p - oldest)
    end
    call('SET', KEYS[1], record .. id .. '+' .. rest, 'PX', ttl)
    return {now, born * 2 + 1, room, next}
  end
end
