package conformance

import "slices"

// plays returns the scenarios that need more than a list of requests.
func plays() []scenario {
	return slices.Concat(
		configPlays(), requestPlays(), keyPlays(), peerPlays(), proxyPlays(), doctorPlays(), clockPlays(),
		decisionPlays(), chainPlays(), crowdPlays(), wirePlays(), failurePlays(), refundPlays(),
	)
}
