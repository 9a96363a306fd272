"""Plans that several families ask for: reads at once, again and again, and what stays in memory."""
