"""What sweeps will take: tokens, memory, time and money, before they run."""
