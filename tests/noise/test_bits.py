"""Bits: blocks, threads, forks, pickles, failures."""

import os
import pickle
import ssl
import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.errors import InvalidArgument, NoRandomness
from discreet.noise import SecureBits, secure_bits
from discreet.noise.bits import ByteWords, _forked, generation, readable
from discreet.noise.block_draws import BLOCK, FEW, _Block, blocks
from discreet.testing.bits import FailingBits, HashedBits, ScriptedBits, ShortBits, UntouchedBits
from support.fork import fork

DRAWS = {
    "laplace": lambda bits: noise.laplace(1000, 500, bits=bits),
    "geometric": lambda bits: noise.geometric(1000, 500, bits=bits),
    "gaussian": lambda bits: noise.gaussian(10**6, 500, bits=bits),
    "binomial": lambda bits: noise.binomial(2**20, 500, bits=bits),
    "truncated": lambda bits: noise.truncated_geometric([1, 2], 10, 0, 5, bits=bits),
    "truncated one": lambda bits: noise.truncated_geometric(1, 10, 0, 5, bits=bits),
    "coin": lambda bits: noise.coin(0.3, 500, bits=bits),
    "exponential coin": lambda bits: noise.exponential_coin(0.3, bits=bits),
    "uniform": lambda bits: noise.uniform(10, 500, bits=bits),
    "wide uniform": lambda bits: noise.uniform(10**30, bits=bits),
    "choice": lambda bits: noise.choice([1, 2, 3], 500, bits=bits),
    "wide choice": lambda bits: noise.choice([1, 10**30], 3, bits=bits),
    "exponential choice": lambda bits: noise.exponential_choice([1, 2, 3], 1, 500, bits=bits),
    "permute and flip": lambda bits: noise.permute_and_flip([1, 2, 3], 1, bits=bits),
}


def kept(**parameter):
    """This thread's block for a law with that parameter."""
    (name, value), *_ = parameter.items()
    return next(
        block for block in blocks.kept.values() if getattr(block.sampler, name, None) == value
    )


class TestSecureBits:
    def test_exact_counts(self):
        bits = SecureBits()
        assert [len(bits.take(count)) for count in (0, 1, 7, 1024, 1025, 100_000)] == [
            0,
            1,
            7,
            1024,
            1025,
            100_000,
        ]

    def test_blocks_are_used_once(self):
        bits = SecureBits()
        seen = {bits.take(16) for _ in range(2000)}
        assert len(seen) == 2000

    def test_pickle_carries_no_state(self):
        bits = SecureBits()
        bits.take(8)
        text = pickle.dumps(bits)
        copy = pickle.loads(text)
        assert bits._spare.rests[0][1][8:24] not in text
        assert copy.take(16) != bits.take(16)

    def test_threads_share_no_bytes(self):
        bits, found = SecureBits(), []

        def work():
            found.extend([bits.take(16) for _ in range(500)])

        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(set(found)) == 4000

    @pytest.mark.parametrize(
        "failure", [ssl.SSLError("broken"), OSError("broken"), ValueError("broken")]
    )
    def test_a_failing_device(self, monkeypatch, failure):
        def broken(count):
            raise failure

        monkeypatch.setattr(ssl, "RAND_bytes", broken)
        with pytest.raises(NoRandomness, match="failed"):
            SecureBits().take(10)

    def test_a_short_device(self, monkeypatch):
        monkeypatch.setattr(ssl, "RAND_bytes", lambda count: bytes(count - 1))
        with pytest.raises(NoRandomness, match="short"):
            SecureBits().take(10)

    def test_the_default(self):
        assert readable(None) is secure_bits()
        for wrong in (3, "bits", SecureBits):
            with pytest.raises(InvalidArgument, match="take"):
                readable(wrong)


class TestFailingSources:
    """A source that fails or falls short: an error, no output."""

    @pytest.mark.parametrize("name", DRAWS)
    @pytest.mark.parametrize(
        "bits", [FailingBits(), FailingBits(1), ShortBits()], ids=["fails", "fails late", "short"]
    )
    def test_no_output(self, name, bits):
        with pytest.raises(NoRandomness):
            DRAWS[name](bits)

    @pytest.mark.parametrize("name", DRAWS)
    def test_reproducible_from_the_same_bits(self, name):
        assert np.array_equal(DRAWS[name](HashedBits(b"a")), DRAWS[name](HashedBits(b"a")))

    def test_a_failing_refill_serves_nothing_stale(self, monkeypatch):
        noise.laplace(77)
        block = kept(scale=77)
        block.used = block.values.size
        with monkeypatch.context() as patch:
            patch.setattr(ssl, "RAND_bytes", lambda count: b"")
            secure_bits()._spare.rests.clear()
            with pytest.raises(NoRandomness):
                noise.laplace(77)
        noise.laplace(77)
        assert kept(scale=77).values is not block.values


class TestBlocks:
    def test_single_draws_come_from_a_block_of_at_least_256(self):
        assert BLOCK >= 256
        noise.gaussian(41)
        block = kept(variance=41)
        assert block.values.size == BLOCK
        expected = block.values[block.used : block.used + 5].tolist()
        assert [noise.gaussian(41) for _ in range(5)] == expected

    def test_few_draws_are_a_copy(self):
        drawn = noise.laplace(43, FEW)
        drawn[:] = 0
        block = kept(scale=43)
        assert np.any(block.values[:FEW] != 0)

    def test_a_block_runs_out(self):
        for _ in range(6):
            assert noise.laplace(44, FEW).size == FEW

    @pytest.mark.untraced
    def test_only_so_many_laws_are_kept(self):
        for part in range(1, 60):
            noise.laplace(Fraction(1, part))
        assert len(blocks.kept) <= 32

    def test_a_draw_within_a_draw_serves_nothing_twice(self, monkeypatch):
        """As from a signal handler, in the middle of serving."""
        noise.laplace(2**50)
        outer, inner = _Block.reserve, []

        def interrupted(block, count):
            start = outer(block, count)
            if not inner:
                inner.append(None)
                inner[0] = noise.laplace(2**50)
            return start

        monkeypatch.setattr(_Block, "reserve", interrupted)
        assert noise.laplace(2**50) != inner[0]

    def test_threads_have_their_own(self):
        noise.laplace(45)
        found = []
        worker = threading.Thread(target=lambda: found.append(len(blocks.kept)))
        worker.start()
        worker.join()
        assert found == [0]

    def test_equal_parameters_of_unlike_type(self):
        assert noise.laplace(np.int64(3)) is not None
        assert noise.laplace("3") is not None
        assert noise.laplace(np.float32(0.1), 3).shape == (3,)


def in_child(work):
    """Fork, run `work` in the child, return the bytes it gives."""
    reading, writing = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            os.write(writing, work())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read()
    os.waitpid(pid, 0)
    return found


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
class TestFork:
    """A child never repeats its parent's bits nor its parent's noise."""

    def test_bits(self):
        bits = SecureBits()
        bits.take(1)
        child = in_child(lambda: bits.take(32))
        assert len(child) == 32
        assert child != bits.take(32)

    def test_draws(self):
        noise.laplace(10**6)
        child = in_child(lambda: noise.laplace(10**6, 32).tobytes())
        assert len(child) == 256
        assert child != noise.laplace(10**6, 32).tobytes()

    def test_blocks_are_dropped(self, monkeypatch):
        monkeypatch.setattr("discreet.noise.bits._generation", generation())
        bits = SecureBits()
        bits.take(1)
        noise.laplace(46)
        block = kept(scale=46)
        before, values = bits._spare.rests[0][1], block.values
        _forked()
        bits.take(1)
        noise.laplace(46)
        assert bits._spare.rests[0][1] is not before
        assert block.values is not values

    def test_generation(self):
        assert int(in_child(lambda: str(generation()).encode())) == generation() + 1


class TestWords:
    def test_widths(self):
        words = ByteWords(ScriptedBits(bytes(range(1, 60))))
        assert words.words(2, 8).tolist() == [1, 2]
        assert words.words(1, 16).tolist() == [0x0403]
        assert words.words(1, 12).tolist() == [0x605]
        assert words.words(1, 32).tolist() == [0x0A090807 - 0]
        assert words.words(1, 48).dtype == np.uint64
        assert words.words(1, 1).tolist() == [19 & 1]
        assert words.word(0) == 0
        assert words.word(9) == (20 | 21 << 8) & 511

    def test_untouched(self):
        with pytest.raises(AssertionError):
            UntouchedBits().take(1)
