//go:build race

package fibermw_test

const raceDetector = true
