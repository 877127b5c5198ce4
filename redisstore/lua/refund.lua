-- refund: takes back charges by their receipts.
--
-- KEYS     the records
-- ARGV[1]  the number of the call
-- ARGV[2…] for each key the cost, the instant of the charge and the number of the
--          record, and those of its limits that were charged, as limitBytes
--          writes them
local id = ARGV[1]

-- position returns the slot of an instant, w/n long, and how far it lies in it
-- in n-ths of a µs: floor(at·n/w) and the rest.
local function position(at, w, n)
  local r = at % w
  if n == 1 then return (at - r) / w, r end
  local slot, into = muldiv(r, n, w)
  return (at - r) / w * n + slot, into
end

-- takeBack returns a list of charges less units of a position: the last position,
-- its units, and what was charged before.
local function takeBack(newest, units, before, position, cost)
  local charges, pos, _ = {}, newest
  if before ~= '' then
    local cursor = 1
    if #before == 16 then
      _, pos = unpack('<dd', before)
      pos = newest - pos
    else
      _, pos, cursor = unpack('<dd', before)
    end
    while pos < newest do
      local u, gap
      u, gap, cursor = unpack('<dd', before, cursor)
      charges[#charges + 1] = {pos = pos, units = u}
      pos = pos + gap
    end
  end
  charges[#charges + 1] = {pos = newest, units = units}
  for i, c in ipairs(charges) do
    if c.pos == position then
      c.units = math.max(0, c.units - cost)
      if c.units == 0 and #charges > 1 then table.remove(charges, i) end
      break
    end
  end
  local last, total, list = charges[#charges], 0, {}
  for i, c in ipairs(charges) do
    total = total + c.units
    if i < #charges then list[i] = pack('<dd', c.units, charges[i + 1].pos - c.pos) end
  end
  if #list < 2 then return last.pos, last.units, list[1] or '' end
  return last.pos, last.units, pack('<dd', total, charges[1].pos) .. table.concat(list)
end

-- takeBackBucket gives back what the charge still owes, as if the bucket had
-- been full before it: it cannot have been paid off sooner than that.
local function takeBackBucket(quota, d, rest, w, at, charged, cost)
  local r = unpack('<d', rest)
  if quota == 0 then
    if d < cost then d, r = cost, 0 end
    return quota, d - cost, pack('<d', r)
  end
  d = d - at
  if d < 0 then d, r = 0, 0 end
  local owed, part = muldiv(cost, w, quota)
  owed = owed - (at - charged)
  if owed >= 0 then
    d, r = d - owed, r - part
    if r < 0 then d, r = d - 1, r + quota end
  end
  -- Nothing owed now means that nothing was at the last charge, whatever the
  -- pace from then on.
  if d < 0 or d == 0 and r == 0 then d, r, at = 0, 0, charged end
  return quota, at + d, pack('<d', r)
end

-- undo returns a record after a refund of this call, or nil if nothing is to be
-- done: the record is another, or the call came before.
local function undo(record, plan)
  local cost, charged, receipt, pos = unpack('<ddd', plan)
  if #record < 33 then return nil end
  local last, born, tail, new = unpack('<ddI4I4', record)
  if born ~= receipt or find(record, id, tail, true) then return nil end
  local at, limits = math.max(now, last), {}
  while pos <= #plan do
    local print, _, _, w, n
    print, _, _, w, n, _, pos = unpack('<dddddd', plan, pos)
    limits[print] = {w, n}
  end
  local parts, cursor = {}, 25
  while cursor < tail do
    local print, a, b, more, next = unpack('<dddI4', record, cursor)
    local limit, rest = limits[print], sub(record, next, next + more - 1)
    if limit and limit[2] == 0 then
      a, b, rest = takeBackBucket(a, b, rest, limit[1], at, charged, cost)
    elseif limit then
      a, b, rest = takeBack(a, b, rest, (position(charged, limit[1], limit[2])), cost)
    end
    parts[#parts + 1] = pack('<dddI4', print, a, b, #rest) .. rest
    cursor = next + more
  end
  local changed = table.concat(parts)
  return pack('<ddI4I4', last, born, 25 + #changed, new + 9) .. changed .. id .. '<' .. sub(record, tail, tail + MOST - 1)
end

for k = 1, #KEYS do
  local record = call('GET', KEYS[k])
  local changed = record and undo(record, ARGV[k + 1])
  if changed then call('SET', KEYS[k], changed, 'KEEPTTL') end
end
return 1
