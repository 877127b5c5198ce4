package redisstore

import "strings"

// hashSlots is how many slots a Redis Cluster divides its keys into.
const hashSlots = 16384

// slotOf returns the slot of a Redis key: the CRC16 of its hash tag, which is
// what stands between the first "{" and the next "}" if that is not empty, and
// else of the whole key.
func slotOf(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	return int(crc16(key)) % hashSlots
}

// crc16 is CRC-16/XMODEM: polynomial 0x1021, from 0, no reflection.
func crc16(s string) uint16 {
	var crc uint16
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = newCRCTable()

func newCRCTable() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}
