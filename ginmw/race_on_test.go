//go:build race

package ginmw_test

const raceDetector = true
