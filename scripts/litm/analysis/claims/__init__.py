"""What the paper says of models, each claim an executable test over whatever was run, or published."""
