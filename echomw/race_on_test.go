//go:build race

package echomw_test

const raceDetector = true
