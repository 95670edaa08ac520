"""The command line: one module a verb, thin, nothing imported before its verb is asked for."""
