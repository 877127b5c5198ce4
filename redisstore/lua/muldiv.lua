-- muldiv returns floor(a·b/d) and the rest; all must be below 2^52. Where the
-- product is no exact double, the quotient is guessed, which is off by 2 at most,
-- and the rest is worked out in two parts, hi·2^52 + lo.
local function muldiv(a, b, d)
  local p = a * b
  if p < 9007199254740992 then
    local r = p % d
    return (p - r) / d, r
  end
  local function product(a, b)
    local a0, b0 = a % 67108864, b % 67108864
    local a1, b1 = (a - a0) / 67108864, (b - b0) / 67108864
    local mid = a1 * b0 + a0 * b1
    local m0 = mid % 67108864
    return a1 * b1 + (mid - m0) / 67108864, m0 * 67108864 + a0 * b0
  end
  local q = floor(p / d)
  local hi, lo = product(a, b)
  local hi2, lo2 = product(q, d)
  local r = (hi - hi2) * 4503599627370496 + (lo - lo2)
  while r < 0 do q, r = q - 1, r + d end
  while r >= d do q, r = q + 1, r - d end
  return q, r
end
