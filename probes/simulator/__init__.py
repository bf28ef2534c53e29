"""A simulated language-model endpoint whose true timing is known.

It speaks OpenAI's chat completions over real HTTP, and decides when each token is
due from a model of a real server: prefill, batching, a queue, a prefix cache, a
rhythm of load, jitter and faults. Demos show it, tests and benchmarks measure it.

``knobs``, ``engine``, ``cache``, ``tokens``, ``faults``, ``answer`` and ``wire``
are pure: time and seeds are arguments. ``live``, ``chat``, ``app`` and ``page``
put them on a socket.
"""
