"""Messages between the studio and its page; the OpenAPI document is generated from them."""
