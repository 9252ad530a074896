"""The doctor: looks at a machine and a cluster, and says what is wrong and how to mend it."""
