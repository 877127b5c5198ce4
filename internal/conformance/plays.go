package conformance

func plays() []scenario { return nil }
