package redisstore

import (
	"time"

	"github.com/slidegate/slidegate/core"
)

// readDecision fills the asks from the reply of the decide script, whose head
// says what it holds. Nothing is filled unless the reply is whole.
func readDecision(value any, asks []core.Ask) (now time.Time, err error) {
	size := 1
	for i := range asks {
		size += 2 + 3*len(asks[i].Limits)
	}
	list, err := integers(value, size)
	if err != nil {
		return time.Time{}, err
	}
	now, list = time.UnixMicro(list[0]), list[1:]
	for i := range asks {
		a := &asks[i]
		a.Receipt = core.Receipt{}
		if list[1] != 0 {
			a.Receipt = core.Receipt{At: list[0], Serial: uint64(list[1] / 2), Dry: list[1]%2 == 1}
		}
		list = list[2:]
		for j := range a.Limits {
			a.States[j] = state(list[0], list[1], list[2])
			list = list[3:]
		}
	}
	return now, nil
}

// state returns what three numbers say: a wait below zero stands for no wait
// that helps.
func state(remaining, wait, next int64) core.State {
	s := core.State{Remaining: remaining, Denied: wait != 0, Never: wait < 0, Next: micros(next)}
	if wait > 0 {
		s.RetryAfter = micros(wait)
	}
	return s
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// integers returns a reply that must be an array of so many integers.
func integers(value any, size int) ([]int64, error) {
	array, ok := value.([]any)
	if !ok || len(array) != size {
		return nil, fault("the client returned %T for a reply of %d integers; it must be a []any of int64", value, size)
	}
	list := make([]int64, size)
	for i, v := range array {
		if list[i], ok = v.(int64); !ok {
			return nil, fault("the client returned a %T in an array of integers; they must be int64", v)
		}
	}
	return list, nil
}
