"""Learning pages: lessons about differential privacy with sliders, and the telemetry demo."""
