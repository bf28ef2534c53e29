"""The simulator's pure model: what its knobs promise, its engine keeps."""

from __future__ import annotations

import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.simulator.answer import plan_answer, troubles
from probes.simulator.cache import PrefixCache
from probes.simulator.engine import Engine, Job
from probes.simulator.faults import KINDS, Fault, FaultBoard
from probes.simulator.knobs import DEFAULT_MODELS, Knobs, Rhythm, jitter
from probes.simulator.tokens import answer_text, render_prompt, tokenize

NOON_S = 1_800_000_000.0
QUIET = Knobs(name="quiet", slots=2)


def served_for(engine: Engine, busy_s: float, arrivals_s: list[float]) -> list[float]:
    """Queueing time of each arrival when every request holds its slot ``busy_s``."""
    jobs = [Job(prefill_s=0.1) for _ in arrivals_s]
    waiting = dict(zip(jobs, arrivals_s, strict=True))
    pending = list(waiting.items())
    ends: list[tuple[float, Job]] = []
    while pending or ends:
        next_arrival_s = pending[0][1] if pending else float("inf")
        if ends and ends[0][0] <= next_arrival_s:
            at_s, job = ends.pop(0)
            engine.release(job, at_s)
        else:
            job, at_s = pending.pop(0)
            engine.submit(job, at_s)
        for job in [j for j in waiting if j.admitted_s == at_s]:
            ends.append((at_s + busy_s, job))
        ends = sorted(set(ends), key=lambda end: end[0])
    return [(job.admitted_s or 0.0) - waiting[job] for job in jobs]


class TestEngine:
    def test_serves_at_once_up_to_its_slots_and_queues_beyond(self):
        waits_s = served_for(Engine(QUIET, NOON_S), 1.0, [NOON_S] * 6)
        assert waits_s == [0, 0, 1, 1, 2, 2]

    def test_wait_grows_with_load_and_starts_at_the_knee(self):
        def mean_wait_s(clients: int) -> float:
            arrivals_s = [NOON_S + n * 1.0 / clients for n in range(20 * clients)]
            return statistics.mean(served_for(Engine(QUIET, NOON_S), 1.0, arrivals_s))

        waits_s = [mean_wait_s(clients) for clients in (1, 2, 3, 4)]
        assert waits_s[0] == waits_s[1] == 0
        assert 0 < waits_s[2] < waits_s[3]

    def test_is_first_in_first_out(self):
        engine = Engine(QUIET, NOON_S)
        jobs = [Job(prefill_s=0.1) for _ in range(5)]
        for job in jobs:
            engine.submit(job, NOON_S)
        for at_s, job in enumerate(jobs, start=1):
            engine.release(job, NOON_S + at_s)
        admitted = [job.admitted_s for job in jobs]
        assert admitted == [NOON_S, NOON_S, NOON_S + 1, NOON_S + 2, NOON_S + 3]

    def test_a_request_that_gives_up_leaves_the_queue(self):
        engine = Engine(QUIET, NOON_S)
        first, second, impatient, patient = (Job(prefill_s=0.1) for _ in range(4))
        for job in (first, second, impatient, patient):
            engine.submit(job, NOON_S)
        engine.release(impatient, NOON_S + 1)
        assert engine.queue_length == 1
        engine.release(first, NOON_S + 2)
        assert impatient.admitted_s is None
        assert patient.admitted_s == NOON_S + 2

    def test_background_load_takes_slots_and_makes_others_wait(self):
        busy = Knobs(name="busy", slots=2, rhythm=Rhythm(low_per_s=2, high_per_s=2))
        engine = Engine(busy, NOON_S)
        job = Job(prefill_s=0.1)
        engine.submit(job, NOON_S)
        assert engine.background == 2
        assert engine.queue_length > 0
        engine.advance(NOON_S + 600)
        assert job.admitted_s is not None
        assert NOON_S < job.admitted_s < NOON_S + 600

    def test_background_queue_stays_bounded(self):
        flood = Knobs(name="flood", slots=1, rhythm=Rhythm(low_per_s=50, high_per_s=50))
        engine = Engine(flood, NOON_S)
        engine.advance(NOON_S + 100)
        assert engine.queue_length == flood.background_max_queue

    def test_the_rhythm_moves_the_load(self):
        knobs = Knobs(
            name="tide",
            slots=64,
            rhythm=Rhythm(high_per_s=3, period_s=86_400, quiet_at_s=4 * 3600),
        )
        midnight_s = NOON_S - NOON_S % 86_400
        means = []
        for hour in (4, 16):
            at_s = midnight_s + hour * 3600
            engine = Engine(knobs, at_s)
            batches = []
            for second in range(600):
                engine.advance(at_s + second)
                batches.append(engine.batch)
            means.append(statistics.mean(batches))
        night, day = means
        assert night < 0.5
        # Little's law: 3 arrivals a second, each holding its slot some 2.7 s.
        assert 6 < day < 10

    def test_the_same_seed_gives_the_same_load(self):
        loaded = next(m for m in DEFAULT_MODELS if m.name == "loaded")

        def trace(stops: int) -> list[int]:
            engine = Engine(loaded, NOON_S)
            batches = []
            for stop in range(1, stops + 1):
                engine.advance(NOON_S + 600 * stop / stops)
                if stop % (stops // 10) == 0:
                    batches.append(engine.batch)
            return batches

        assert trace(10) == trace(1000)

    @given(
        st.lists(st.tuples(st.floats(0, 5), st.booleans()), max_size=60),
        st.integers(1, 4),
    )
    def test_never_more_served_than_slots_nor_idle_while_one_waits(self, moves, slots):
        knobs = Knobs(name="any", slots=slots, rhythm=Rhythm(high_per_s=1, low_per_s=1))
        engine = Engine(knobs, NOON_S)
        now_s = NOON_S
        jobs: list[Job] = []
        for step_s, arrives in moves:
            now_s += step_s
            if arrives:
                jobs.append(Job(prefill_s=0.1))
                engine.submit(jobs[-1], now_s)
            elif jobs:
                engine.release(jobs.pop(0), now_s)
            assert engine.batch <= slots
            assert engine.queue_length == 0 or engine.batch == slots


class TestKnobs:
    def test_prefill_grows_with_the_uncached_prompt(self):
        knobs = Knobs(name="k", prefill_base_ms=40, prefill_ms_per_1k_tokens=100)
        assert knobs.prefill_s(0) == pytest.approx(0.040)
        assert knobs.prefill_s(32_000) == pytest.approx(3.240)

    def test_decoding_slows_with_the_batch(self):
        knobs = Knobs(name="k", decode_tokens_per_s=50, batch_slowdown=0.1)
        assert knobs.step_s(1) == pytest.approx(0.020)
        assert knobs.step_s(11) == pytest.approx(0.040)

    def test_jitter_keeps_the_mean(self):
        random = Random(3)
        factors = [jitter(random, 0.3) for _ in range(20_000)]
        assert statistics.mean(factors) == pytest.approx(1.0, abs=0.01)
        assert min(factors) > 0

    def test_the_rhythm_swings_between_its_rates(self):
        rhythm = Rhythm(low_per_s=1, high_per_s=3, period_s=600, quiet_at_s=100)
        assert rhythm.rate_per_s(100) == pytest.approx(1)
        assert rhythm.rate_per_s(400) == pytest.approx(3)
        assert rhythm.rate_per_s(100 + 600 * 7) == pytest.approx(1)


class TestPrefixCache:
    def test_saves_what_two_prompts_share_in_whole_blocks(self):
        cache = PrefixCache(capacity_blocks=100, block_tokens=16)
        shared = [f"w{n}" for n in range(40)]
        assert cache.take([*shared, "first"]) == 0
        assert cache.take([*shared, "second"]) == 32

    def test_the_last_token_is_always_computed(self):
        cache = PrefixCache(capacity_blocks=100, block_tokens=16)
        prompt = [f"w{n}" for n in range(32)]
        cache.take(prompt)
        assert cache.take(prompt) == 16

    def test_a_block_counts_only_behind_the_same_prefix(self):
        cache = PrefixCache(capacity_blocks=100, block_tokens=4)
        cache.take(["a"] * 4 + ["b"] * 4 + ["end"])
        assert cache.take(["x"] * 4 + ["b"] * 4 + ["end"]) == 0

    def test_forgets_what_was_used_longest_ago(self):
        cache = PrefixCache(capacity_blocks=2, block_tokens=1)
        cache.take(["a", "end"])
        cache.take(["b", "end"])
        cache.take(["a", "end"])
        cache.take(["c", "end"])
        assert len(cache) == 2
        assert cache.take(["a", "end"]) == 1
        assert cache.take(["b", "end"]) == 0

    def test_no_capacity_means_no_cache(self):
        cache = PrefixCache(capacity_blocks=0, block_tokens=1)
        cache.take(["a", "end"])
        assert cache.take(["a", "end"]) == 0


class TestFaultBoard:
    def test_a_fault_ends_by_itself(self):
        board = FaultBoard()
        board.switch_on(Fault.STALL, 3, NOON_S, for_s=60)
        assert board.value(Fault.STALL, NOON_S + 59) == 3
        assert board.value(Fault.STALL, NOON_S + 60) is None
        assert board.active(NOON_S + 60) == {}

    def test_without_a_duration_it_stays_until_switched_off(self):
        board = FaultBoard()
        board.switch_on(Fault.CUT, None, NOON_S, for_s=None)
        assert board.value(Fault.CUT, NOON_S + 1e6) == KINDS[Fault.CUT].default
        board.switch_off(Fault.CUT)
        assert board.value(Fault.CUT, NOON_S) is None

    @pytest.mark.parametrize(
        ("fault", "value", "for_s"),
        [
            (Fault.SLOW_TTFT, 0.5, None),
            (Fault.STALL, float("nan"), None),
            (Fault.STALL, float("inf"), None),
            (Fault.SERVER_ERROR, 404, None),
            (Fault.CUT, 2.5, None),
            (Fault.STALL, 1, 0),
            (Fault.STALL, 1, float("nan")),
        ],
    )
    def test_refuses_what_makes_no_sense(self, fault, value, for_s):
        board = FaultBoard()
        with pytest.raises(ValueError, match=r"\.$"):
            board.switch_on(fault, value, NOON_S, for_s)
        assert board.active(NOON_S) == {}

    def test_mishaps_come_at_their_rate(self):
        knobs = Knobs(name="k", mishaps=((Fault.STALL, 0.1),))
        random = Random(5)
        met = [troubles(knobs, FaultBoard(), random, NOON_S) for _ in range(5_000)]
        assert sum(map(bool, met)) / 5_000 == pytest.approx(0.1, abs=0.015)


class TestPlan:
    def plan(self, met=None, tokens=40, knobs=QUIET):
        return plan_answer(knobs, met or {}, Random(1), 1000, tokens)

    def test_slow_ttft_multiplies_the_prefill(self):
        slow = self.plan({Fault.SLOW_TTFT: 8.0})
        assert slow.prefill_s == pytest.approx(8 * self.plan().prefill_s)

    def test_a_cut_always_leaves_the_answer_unfinished(self):
        assert self.plan({Fault.CUT: 5.0}).cut_after == 5
        assert self.plan({Fault.CUT: 500.0}).cut_after == 39

    def test_refusals_carry_what_the_client_needs(self):
        assert self.plan({Fault.SERVER_ERROR: 503.0}).refuse_status == 503
        limited = self.plan({Fault.RATE_LIMIT: 7.0})
        assert (limited.refuse_status, limited.retry_after_s) == (429, 7)

    def test_a_stall_falls_into_the_middle(self):
        stalled = self.plan({Fault.STALL: 2.5})
        assert (stalled.stall_s, stalled.stall_at) == (2.5, 20)


class TestTokens:
    def test_counts_words_and_punctuation(self):
        assert tokenize("It's 3.5 µs,\nisn't it?") == [
            *("It", "'", "s", "3", ".", "5", "µs", ","),
            *("isn", "'", "t", "it", "?"),
        ]

    def test_a_conversation_shares_its_prefix(self):
        first = render_prompt([("system", "Be brief."), ("user", "Hello")])
        longer = render_prompt(
            [("system", "Be brief."), ("user", "Hello"), ("assistant", "Yes?")]
        )
        assert list(longer[: len(first) - 1]) == list(first[:-1])

    @given(st.integers(0, 500))
    def test_an_answer_has_as_many_tokens_as_it_says(self, count):
        assert len(tokenize(answer_text(count))) == count
