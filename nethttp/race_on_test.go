//go:build race

package nethttp_test

const raceDetector = true
