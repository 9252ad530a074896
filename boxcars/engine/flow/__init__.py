"""The flow of trains through the boxes of a network, shared by previews and runs."""
