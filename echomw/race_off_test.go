//go:build !race

package echomw_test

// raceDetector says that allocations are not those of a normal build.
const raceDetector = false
