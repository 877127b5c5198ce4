-- decide: all limits of all keys are looked at, and then all charged or none.
--
-- KEYS     the records, one a subject
-- ARGV[1]  the number of the call, eight bytes; nothing, to charge nothing
-- ARGV[2…] for each key how many ms its counts matter at most (digits and a zero
--          byte), the cost, and its limits as limitBytes writes them
--
-- It returns the time, and for each key a receipt: 0 if nothing was charged, else
-- twice the number of the record, plus 1 if dry runs were charged. A receipt
-- below 0 is followed by the instant of the charge, which is else the time. Then
-- for each limit the units that remain and the wait until more do. Where it
-- denies the units are those below -1, and the wait for the cost follows, 0 if
-- none helps.
--
-- What costs the server most is making functions, what these take from outside,
-- tables and strings. Hence functions only for what is used twice, or seldom.

-- ahead returns the µs until a moment: so many slots from now, so far into one.
local function ahead(l, slots, into)
  local n = l.n
  if n == 1 then return slots * l.w + into - l.into end
  local rest = l.w % n
  return slots * ((l.w - rest) / n) - floor((l.into - into - slots * rest) / n)
end

-- wait returns the µs until cost units fit a list. From the oldest charge on it
-- looks for the first whose leaving makes enough room, if need be by a share.
local function wait(l, cost)
  local free, pos, newest, cursor, left = l.quota - cost - l.total, l.oldest, l.newest, 1, nil
  while true do
    local units, gap = l.units, nil
    if pos < newest then units, gap, cursor = unpack('<dd', l.list, cursor) end
    free = free + units
    if units <= free then
      return left and ahead(l, left - l.p, 0) or 0
    elseif l.smooth and free >= 0 then
      local wait = ahead(l, pos + l.n - l.p, l.w - muldiv(free, l.w, units))
      return wait > 0 and wait or 0
    end
    left = pos + l.span
    if not gap then return ahead(l, left - l.p, 0) end
    pos = pos + gap
  end
end

-- buckets returns the functions of buckets, which most calls do not need. A
-- bucket owes d µs and r/quota µs; under a quota of 0, d units and r/w units.
local function buckets(muldiv, now, slack)
  local b, floor, pack = {}, math.floor, struct.pack
  local LONGEST = 3156192000000000 -- to fill a bucket: core.MaxRefill

  -- paced returns what was owed under another quota in those of this one, at
  -- most what takes the longest.
  local function paced(quota, d, r, l)
    local w = l.w
    if quota > 0 then
      local units, rest = muldiv(d, quota, w)
      d, r = units + floor((rest + r) / w), (rest + r) % w
    end
    quota = l.quota
    if quota == 0 then return d, r end
    if d * w / quota > 1.2 * LONGEST then return LONGEST, 0 end
    local whole, rest = muldiv(d, w, quota)
    d, r = whole + floor((rest + r) / quota), (rest + r) % quota
    if d >= LONGEST then return LONGEST, 0 end
    return d, r
  end

  -- view finds what is owed: what was at the last charge less what was paid off
  -- since, at the pace of the limit that asks. It returns the room.
  function b.view(l, a, from, quota, d)
    l.at, l.owed, l.rest, l.changed = a.at, 0, 0, false
    if from then
      local r = struct.unpack('<d', a.record, from)
      if quota > 0 then d = d - a.last end
      if d < 0 then d, r = 0, 0 end
      if quota ~= l.quota then
        l.changed = true
        d, r = paced(quota, d, r, l)
      end
      if l.quota > 0 then d = d - (a.at - a.last) end
      if d < 0 then d, r = 0, 0 end
      l.owed, l.rest = d, r
    end
    if l.quota == 0 then return 0 end
    local units, rest = muldiv(l.owed, l.quota, l.w)
    return l.burst - units + floor(-(rest + l.rest) / l.w)
  end

  function b.wait(l, cost)
    local d, r = muldiv(l.burst - cost, l.w, l.quota)
    d, r = l.owed - d, l.rest - r
    if r > 0 then d = d + 1 end
    return d > 0 and d or 0
  end

  function b.charge(l, cost)
    local d, r = muldiv(cost, l.w, l.quota)
    d, r = l.owed + d, l.rest + r
    if r >= l.quota then d, r = d + 1, r - l.quota end
    l.owed, l.rest = d, r
  end

  -- encode returns a bucket as it stands in a record, and for how many µs it
  -- counts.
  function b.encode(l)
    if l.quota == 0 then return pack('<dddI4d', l.print, 0, l.owed, 8, l.rest), 2 * l.w end
    return pack('<dddI4d', l.print, l.quota, l.at + l.owed, 8, l.rest), l.owed + 1
  end

  -- outlive keeps a record that was charged at another pace for as long as the
  -- limit says to wait.
  function b.outlive(key, l)
    local ms = floor((l.at + l.owed - now) / 1000) + 2 + slack
    if ms > redis.call('PTTL', key) then redis.call('PEXPIRE', key, ms) end
  end
  return b
end
local bucket

-- Records are kept for longer, in ms, where the time is not the server's.
local slack = ARGV[#KEYS + 2] and 3600000 or 0

-- First look at everything. Nothing is written yet, so that an error on the way
-- leaves nothing half done. The keys are chained, each with its limits.
local first, a, admitted, done = false, nil, true, false
for k = 1, #KEYS do
  local plan, record = ARGV[k + 1], call('GET', KEYS[k])
  local ttl, cost, pos = unpack('<sd', plan)
  local at, last, born, tail, new, from = now, now, nil, 0, 0, 25
  if record then
    if #record >= 33 then last, born, tail, new = unpack('<ddI4I4', record) end
    if tail < 25 or tail > #record or (#record - tail + 1) % 9 > 0 then
      return redis.error_reply('SLIDEGATE the key holds something else than a record of slidegate')
    end
    if last > now then at = last end
    if id ~= '' and find(record, id, tail, true) then done = true end
  end
  local key, i = {KEYS[k], record, at, last, born, tail, new, ttl, cost, true, false, not record, false, nil, nil, nil}, 13
  if a then a.next = key else first = key end
  a = key
  while pos <= #plan do
    local print, flags, quota, w, n, span
    print, flags, quota, w, n, span, pos = unpack('<dddddd', plan, pos)

    -- What the record has of the limit is where it stands in the plan, unless
    -- the limits have changed.
    local other, x, y, more, found
    if from < tail then other, x, y, more, found = unpack('<dddI4', record, from) end
    if record and other ~= print then
      from, found = 25, nil
      while from < tail and other ~= print do
        other, x, y, more, found = unpack('<dddI4', record, from)
        from = found + more
      end
      if other ~= print then found, a.fresh = nil, true end
    elseif found then
      from = found + more
    end

    local l, room
    if n == 0 then
      bucket = bucket or buckets(muldiv, now, slack)
      l = {print, flags >= 2, false, quota, span, w, n, span, 0, 0, 0, 0, 0, 0, '', 0, false, 0}
      room = bucket.view(l, a, found, x, y)
      if l.changed then a.fresh = true end
    else
      -- Of a list those charges are looked up that still count.
      local into = at % w
      local p, newest, units, total, oldest, list = (at - into) / w, 0, 0, 0, 0, ''
      if n > 1 then
        local slot
        slot, into = muldiv(into, n, w)
        p = p * n + slot
      end
      room = quota
      if found and p - x < span then
        newest, units, total, oldest = x, y, y, x
        if more > 0 then
          local till = found + more - 1
          if more == 16 then
            total, oldest = unpack('<dd', record, found)
            total, oldest = y + total, x - oldest
          else
            total, oldest, found = unpack('<dd', record, found)
          end
          while p - oldest >= span do
            local units, gap
            units, gap, found = unpack('<dd', record, found)
            total, oldest = total - units, oldest + gap
          end
          list = sub(record, found, till)
        end
        room = quota - total
        if flags % 2 == 1 and p - oldest == n then
          local first = oldest < newest and unpack('<d', list) or units
          local share, part = muldiv(first, w - into, w)
          room = room + first - share
          if part > 0 then room = room - 1 end
        end
      end
      l = {print, flags >= 2, flags % 2 == 1, quota, quota, w, n, span, p, into, newest, units, total, oldest, list, 0, false, 0}
    end
    i = i + 1
    a[i] = l

    if room > 0 then l.left = room end
    if cost > room then
      l.denied = true
      if cost <= l.burst then l.wait = (n == 0 and bucket.wait or wait)(l, cost) + at - now end
      if flags >= 2 then a.all = false else admitted = false end
    end
    if flags < 2 then a.bound = true end
  end
end

-- A call that came before, and whose reply was lost, was admitted then.
local charges = admitted and not done and id ~= ''

local reply, size = {now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1
a = first
while a do
  local receipt, charged = 0, now
  local at, cost, record, all = a.at, a.cost, a.record, a.all
  if charges and (all or a.bound) then
    local limits, ttl = '', a.ttl
    for i = 14, #a do
      local l, bytes = a[i], nil
      if all or not l.dry then l.left = l.left - cost end
      if l.n == 0 then
        if all or not l.dry then bucket.charge(l, cost) end
        local counts
        bytes, counts = bucket.encode(l)
        counts = floor(counts / 1000) + 1 + slack
        if counts > ttl + 0 then ttl = counts end
      else
        if not (all or not l.dry) then
          -- It stays as it is.
        elseif l.total == 0 then
          l.oldest, l.newest, l.units, l.total = l.p, l.p, cost, cost
        else
          if l.p == l.newest then
            l.units = l.units + cost
          else
            l.list, l.units, l.newest = l.list .. pack('<dd', l.units, l.p - l.newest), cost, l.p
          end
          l.total = l.total + cost
        end
        if l.oldest == l.newest then
          bytes = pack('<dddI4', l.print, l.newest, l.units, 0)
        elseif #l.list == 16 then
          bytes = pack('<dddI4', l.print, l.newest, l.units, 16) .. l.list
        else
          bytes = pack('<dddI4dd', l.print, l.newest, l.units, 16 + #l.list, l.total, l.oldest) .. l.list
        end
      end
      limits = i == 14 and bytes or limits .. bytes
    end

    -- The numbers of calls go on, as far as they are recent.
    local new, rest = 9, ''
    if record then
      local generation, before = floor(at / GENERATION), floor(a.last / GENERATION)
      if generation == before then
        rest, new = sub(record, a.tail, a.tail + MOST - 1), a.new + 9
      else
        local since = a.tail -- refunds have no time: those since the last charge count as new
        while sub(record, since + 8, since + 8) == '<' do since = since + 9 end
        new = 9 + since - a.tail
        rest = sub(record, a.tail, (generation == before + 1 and a.tail + a.new or since) - 1)
      end
    end
    if a.fresh then a.born = unpack('<d', id) end
    if at > now then ttl = ttl + floor((at - now) / 1000) + 1 end
    call('SET', a.key, pack('<ddI4I4', at, a.born, 25 + #limits, new) .. limits .. id .. (all and '+' or '-') .. rest, 'PX', ttl)
    receipt, charged = a.born * 2 + (all and 1 or 0), at
  elseif done and record and sub(record, a.tail, a.tail + 7) == id then
    all = sub(record, a.tail + 8, a.tail + 8) == '+'
    receipt, charged = a.born * 2 + (all and 1 or 0), a.last
  end

  size = size + 1
  reply[size] = receipt
  if charged ~= now then
    size = size + 1
    reply[size - 1], reply[size] = -receipt, charged
  end
  for i = 14, #a do
    local l, next = a[i], 0
    local left = l.left
    if left < l.burst then
      if l.wait > 0 and cost == left + 1 then
        next = l.wait
      else
        next = (l.n == 0 and bucket.wait or wait)(l, left + 1) + at - now
      end
    end
    if l.denied and not (done and (all or not l.dry)) then
      reply[size + 1], reply[size + 2], reply[size + 3] = -1 - left, next, l.wait
      size = size + 3
      if l.n == 0 and l.changed and l.quota > 0 and id ~= '' then bucket.outlive(a.key, l) end
    else
      reply[size + 1], reply[size + 2] = left, next
      size = size + 2
    end
  end
  a = a.next
end
reply[size + 1] = nil -- where the array ends
return reply
