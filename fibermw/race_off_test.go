//go:build !race

package fibermw_test

// raceDetector says that allocations are not those of a normal build.
const raceDetector = false
