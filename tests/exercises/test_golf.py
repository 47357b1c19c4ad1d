"""Count Golf: starters are right, gold can be won, and cheats are refused."""

from __future__ import annotations

import doctest
import functools
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from golf_cheats import ADD, CHEATS, RECOGNISED, RIGHT, SPILLED
from golf_solutions import GOLD, PACK_WINDOW, PADDED, WAY

import coursekit as ck
from coursekit.exercises.golf import (
    bench,
    card,
    command,
    hole,
    holes,
    rules,
    shape,
    submission,
)
from coursekit.exercises.golf import play as playing
from coursekit.exercises.golf.hole import Draw
from coursekit.exercises.golf.submission import Submission, checked_name, read, verify
from coursekit.exercises.trial import Problem
from coursekit.widgets import GolfCard

STARTERS = {name: hole.source for name, hole in holes.HOLES.items()}
MOST_STORED = 1200  # bytes of a stored card: notebooks are nearly full


@functools.cache
def play_once(hole, source, salt):
    return playing.play(holes.find(hole), source, salt)


def played(hole, source, salt=""):
    return play_once(hole, playing.source_of(source), salt)


def problem(score):
    """Say why a play is refused, for the report of a failing test."""
    return f"{score.stage}: {card.message(score)}" if score.error else ""


# ---------------------------------------------------------------- the holes


@pytest.mark.parametrize("hole", holes.HOLES)
def test_starter_is_right_and_wins_no_medal(hole):
    score = played(hole, STARTERS[hole])
    assert (problem(score), score.medal) == ("", "")


@pytest.mark.parametrize("hole", holes.HOLES)
def test_gold_can_be_won(hole):
    score = played(hole, GOLD[hole])
    assert (problem(score), score.medal) == ("", "gold")


@pytest.mark.parametrize("way", WAY)
def test_way_to_gold_wins_what_it_is_worth(way):
    hole, source, medal = WAY[way]
    score = played(hole, source)
    assert (problem(score), score.medal) == ("", medal)


@pytest.mark.parametrize("hole", holes.HOLES)
def test_starter_gets_advice_that_names_no_solution(hole):
    words = played(hole, STARTERS[hole]).advice
    assert words.endswith("?")
    assert not {"__shfl", "float4", "TILE + 1", "^"} & set(words.split())


@pytest.mark.parametrize(
    ("hole", "ideals"),
    [
        ("vec_add", {"sectors": 3 * 16_384 * 4 // 32}),
        ("pack_window", {"sectors": 32 * 33 + 32 * 32}),
        ("row_sums", {"sectors": 128 * 16 + 16}),
        ("histogram", {"sectors": 1024 + 2 * 32, "wavefronts": 1024 + 2 * 512}),
        ("transpose", {"sectors": 3072, "wavefronts": 2 * 96 * 128 * 4 // 128}),
        ("sum", {"sectors": 1024 + 8}),
        ("softmax", {"sectors": 2 * 8 * 32}),
    ],
)
def test_ideals_follow_from_the_bytes(hole, ideals):
    found = holes.find(hole)
    assert found.ideals(found.scored) == ideals


@pytest.mark.parametrize("hole", holes.HOLES)
def test_ideals_are_never_nothing(hole):
    found, draw = holes.find(hole), Draw("any")
    drawn = [found.round(draw) for _ in range(50)]
    ideals = [n for size in drawn for n in found.ideals(size).values()]
    assert min(ideals) > 0


def test_exact_counts_are_what_is_scored():
    counts = played("transpose", PADDED).scored.counts
    assert counts == {"sectors": 3072, "wavefronts": 768, "barriers": 96}


def test_line_that_costs_most_is_found():
    line = played("transpose", STARTERS["transpose"]).costliest
    assert line.text == "out[col * rows + row] = x[row * cols + col];"
    assert (line.metric, line.cost) == ("sectors", 13_824)


def test_unknown_hole_is_told_the_near_one():
    with pytest.raises(ck.ArgumentError, match="Did you mean 'transpose'"):
        holes.find("transpos")


def test_hidden_sizes_are_the_same_on_every_machine():
    draw = Draw("transpose")
    assert [draw(0, 100) for _ in range(4)] == [71, 27, 73, 94]


def test_hidden_sizes_change_with_a_comment():
    found = {
        bench.Bench(holes.find("transpose"), "", playing.sha256(text)).ragged
        for text in ("a", "a // b", "a // c")
    }
    assert len(found) == 3


def test_data_change_with_a_comment():
    benches = [
        bench.Bench(holes.find("sum"), "", playing.sha256(text))
        for text in ("a", "a // b")
    ]
    drawn = [Problem.of(each.hole, (64,)).given["x"].tobytes() for each in benches]
    assert drawn[0] != drawn[1]


def test_drawn_size_is_never_the_scored_one():
    hole = holes.find("transpose")
    drawn = {bench.Bench(hole, "", f"{n:064x}").round for n in range(99)}
    assert len(drawn) > 10
    assert hole.scored not in drawn


# ---------------------------------------------------------------- cheats


@pytest.mark.parametrize("name", CHEATS)
def test_cheat_is_refused(name):
    cheat = CHEATS[name]
    score = played(cheat.hole, cheat.source)
    assert not score.passed
    assert score.stage == cheat.stage, problem(score)
    assert cheat.words in card.message(score)


@pytest.mark.parametrize("name", CHEATS)
def test_refusal_has_three_parts(name):
    error = played(CHEATS[name].hole, CHEATS[name].source).error
    assert len([line for line in str(error).split("\n") if line.strip()]) >= 3


def test_scored_size_recognised_by_value_wins_no_medal():
    score = played("transpose", RECOGNISED)
    assert problem(score) == ""
    assert score.scored.medal == "gold"
    assert score.medal == ""
    assert "drawn from the hash" in score.advice


def test_variables_in_local_memory_win_no_medal():
    score = played("vec_add", SPILLED)
    assert problem(score) == ""
    assert score.local_bytes > 0
    assert score.medal == ""
    assert "local memory" in score.advice


def test_endless_loop_is_stopped(monkeypatch):
    monkeypatch.setattr(bench, "TIMEOUT_S", 0.2)
    endless = ADD.replace("BODY", RIGHT).replace("i += threads", "i += 0")
    score = playing.play(holes.find("vec_add"), endless)
    assert isinstance(score.error, ck.DeadlockError)


@pytest.mark.parametrize(
    "code",
    [
        'extern "C" __global__ void f();',
        '// asm, __CUDA_ARCH__ and "texts" in a comment\nint a;',
        "/* #include <x> */ int a = 1'000'000;",
        "#define TILE 32\n#pragma unroll 4\nint a;",
        "#define TWICE(x) \\\n    ((x) + (x))\nint a;",
        "// goes on \\\n asm and clock64()\nint a;",
        "float4 v; __syncthreads(); __shfl_sync(__activemask(), 1, 2);",
    ],
)
def test_rules_allow(code):
    assert rules.check_source(code) is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("int a;\n#if 1\n#endif", "Line 2 of the submission has `#if 1`"),
        ("int a; /* open", "open comments"),
        ("char c = '\"';", "texts"),
        ("int f() { return __builtin_clz(1); }", "__builtin_clz"),
        ('_Pragma("unroll") int a;', "texts"),
        ("#define X __DATE__", "the compiler or the GPU"),
        ("int \\u005f_CUDA_ARCH__;", "spellings by number"),
        ("??=if 1", "spellings by number"),
        ("int a; #if 1", "a directive here"),
        ("int a; \\\nint b;\n#if 1", "Line 3 of the submission"),
    ],
)
def test_rules_refuse(code, words):
    with pytest.raises(ck.CheckFailed, match=words.replace("(", r"\(")):
        rules.check_source(code)


# ---------------------------------------------------------------- launches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grid = 4; block = 32", ((4,), (32,), (0,))),
        ("grid = ceil(n / 32), 2; block = 32, 8", ((32, 2), (32, 8), (0,))),
        ("block = min(n, 64); grid = n // 64; shared = 4 * 33", ((15,), (64,), (132,))),
        ("grid = max(1, n % 7 - 1); block = floor(n / 9)", ((5,), (111,), (0,))),
    ],
)
def test_launch_is_computed_from_the_sizes(text, expected):
    assert shape.Shape.of(text).at({"n": 1000}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "grid = 4", "block = 4", "grid = 4; grid = 4; block = 1", "grid = (; block = 1",
        "grid = n / 3; block = 1", "grid = m; block = 1", "grid = n ** 9; block = 1",
        "grid = 1 / (n - n); block = 1", "grid = 4; block = 32; cluster = 2",
        "grid = True; block = 1", "grid = [].append(n); block = 1",
        "grid = ceil(); block = 1",
        "grid = 1; block = 1; shared = 1, 2", f"grid = {150 * '('}1; block = 1",
        "grid = n * n * n * n; block = 1", "grid = (lambda: 1)(); block = 1",
    ],
)  # fmt: skip
def test_launch_that_cannot_be_used_is_refused(text):
    with pytest.raises(ck.LaunchError, match="cannot be used"):
        shape.Shape.of(text).at({"n": 1000})


def test_second_launch_line_is_refused():
    with pytest.raises(ck.LaunchError, match="2 lines that begin"):
        shape.find("// golf: grid = 1; block = 1\n// golf: grid = 2; block = 1\n")


def test_launch_can_be_given_with_the_call():
    source, _, launch = PACK_WINDOW.partition("// golf: ")
    shown = ck.golf("pack_window", source, launch=launch.strip())
    assert shown.score.medal == "gold"


def test_launch_in_two_places_is_refused():
    with pytest.raises(ck.LaunchError, match="says how it is launched"):
        ck.golf("transpose", PADDED, launch="grid = 1; block = 1")


# ---------------------------------------------------------------- submissions

WINDOW = playing.source_of(PACK_WINDOW)


@functools.cache
def window():
    return Submission.of(played("pack_window", PACK_WINDOW), "Ada")


def changed(**fields):
    """Return the submission with other fields."""
    return Submission(**{**window().__dict__, **fields})


def test_submission_is_verified(tmp_path):
    path = window().save(tmp_path)
    assert path.name == f"pack_window_ada_{window().sha256[:12]}.json"
    assert verify(read(path)).trouble == ""


def test_submission_is_verified_with_other_hidden_sizes():
    assert [verify(window(), salt).trouble for salt in ("blue", "red")] == ["", ""]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"counts": {"sectors": 1}}, "sectors 1 -> 2080"),
        ({"counts": {}}, "sectors none -> 2080"),
        ({"sha256": 64 * "0"}, "the hash is not that of the source"),
        ({"source": WINDOW + "// more\n"}, "the hash is not that of the source"),
        ({"source": "int a;\n"}, "the hash"),
        ({"hole": "vec_add"}, "refused (compiles)"),
    ],
)
def test_tampered_submission_does_not_stand(fields, words):
    assert words in verify(changed(**fields)).trouble


def test_counts_of_another_compiler_are_counted_again():
    counts = {**window().counts, "registers": 1}
    found = verify(changed(compiler="nvidia-cuda-nvrtc 12.0", counts=counts))
    assert found
    assert "registers 1 -> " in found.note


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it is not JSON"),
        ("[]", "it holds no fields"),
        ("{}", "schema is missing"),
        ('{"schema": 2}', "hole is missing"),
        ("[" * 9000, "it is not JSON"),
        (
            '{"schema": 1, "hole": "sum", "name": "a", "sha256": "", "source": "", '
            '"compiler": "", "counts": {"x": 1}}',
            "a count that does not exist",
        ),
        ("x" * 90_000, "more than 80,000 bytes"),
    ],
)
def test_damaged_file_is_no_submission(tmp_path, content, words):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(ck.ArgumentError, match=words):
        read(path)


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\x1b[2J", None, "\u202eabc"])
def test_name_that_cannot_be_shown_is_refused(name):
    with pytest.raises(ck.ArgumentError, match="cannot have the name"):
        checked_name(name)


def test_name_chooses_no_folder(tmp_path):
    path = changed(name="../../x").save(tmp_path)
    assert path.parent == tmp_path


def test_file_that_is_missing_is_no_submission(tmp_path):
    with pytest.raises(ck.ArgumentError, match="there is no such file"):
        read(tmp_path / "none.json")


def test_refused_kernel_cannot_be_submitted():
    cheat = CHEATS["a count of the launches"]
    with pytest.raises(ck.CheckFailed, match="nothing to submit"):
        Submission.of(played(cheat.hole, cheat.source), "Eve")


# ---------------------------------------------------------------- the board


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A board: two that tie, one that copies, one that is worse, three that fail."""
    found = tmp_path_factory.mktemp("board")
    plain = played("pack_window", WAY["one window a block"][1])
    copy = playing.source_of(PACK_WINDOW.replace("// golf", "// mine\n// golf"))
    renamed = PACK_WINDOW.replace("float here", "float held").replace("here", "held")
    Submission.of(plain, "Ben").save(found)
    Submission.of(played("pack_window", PACK_WINDOW), "Ada").save(found)
    Submission.of(played("pack_window", copy), "Eve").save(found)
    Submission.of(
        played("pack_window", renamed.replace("held held", "held")), "Cy"
    ).save(found)
    changed(name="Mal", counts={**window().counts, "sectors": 7}).save(found)
    changed(name="Nix", hole="nowhere").save(found)
    (found / "torn.json").write_text("{")
    return found


def again(hole, source, salt=""):
    """Play for a board, but no text a second time: it takes a second or two."""
    return played(hole.name, source, salt)


@pytest.fixture(scope="module")
def found(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submission, "play", again)
        return ck.leaderboard(folder)


def test_board_ranks_with_ties(found):
    places = found.places["pack_window"]
    ranks = [(p.rank, p.tied, p.entry.submission.name) for p in places]
    assert ranks == [
        (1, True, "Ada"),
        (1, True, "Cy"),
        (1, True, "Eve"),
        (4, False, "Ben"),
    ]


def test_board_says_whose_code_is_the_same(found):
    assert [p.copies for p in found.places["pack_window"]] == ["", "", "Ada", ""]


def test_board_lists_what_does_not_stand(found):
    names = [name.split("_")[0] for name, _ in found.refused]
    assert len(found.refused) == 3
    assert sorted(names) == ["nowhere", "pack", "torn.json"]


def test_board_shows_the_diff_that_won(found):
    text = found.diff("pack_window", 4, 1).text
    assert "+    float here = at >= 0 && at < cols ? from[at] : 0;" in text


def test_board_has_no_line_below_its_last(found):
    with pytest.raises(ck.ArgumentError, match="no line 5; it has 4"):
        found.diff("pack_window", 5, 1)


def test_board_has_tables_for_people_and_pages(found):
    assert "=1  Ada   gold    1.00 x" in repr(found)
    assert '<th scope="row"' in found._repr_html_()


def test_board_lies_where_students_write(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSEKIT_WORK", str(tmp_path))
    monkeypatch.setattr(submission, "play", again)
    path = GolfCard(played("pack_window", PACK_WINDOW)).submit("Ada")
    assert path.parent == tmp_path / "golf"
    assert list(ck.leaderboard().places) == ["pack_window"]


def test_board_needs_a_folder(tmp_path):
    with pytest.raises(ck.ArgumentError, match="There is no folder"):
        ck.leaderboard(tmp_path / "none")


# ---------------------------------------------------------------- commands


def test_command_plays_submits_and_ranks(tmp_path, capsys):
    (tmp_path / "mine.cu").write_text(PACK_WINDOW)
    file, out = str(tmp_path / "mine.cu"), str(tmp_path / "board")
    submit = ["submit", "pack_window", file, "--name", "Ada", "--folder", out]
    assert command.main(submit) == 0
    assert command.main(["board", "--folder", out]) == 0
    written = capsys.readouterr().out
    assert "gold medal" in written
    assert "1  Ada   gold" in written


def test_command_fails_where_a_file_does_not_stand(tmp_path, capsys):
    path = changed(counts={"sectors": 1}).save(tmp_path)
    assert command.main(["verify", str(path)]) == 1
    assert "it claims what the source does not do" in capsys.readouterr().out


def test_command_explains_every_hole(capsys):
    assert command.main(["holes"]) == 0
    written = capsys.readouterr().out
    assert [name for name in holes.HOLES if f"Hole {name} (" not in written] == []


def test_command_diff_shows_what_won(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(submission, "play", again)
    for name, source in (("old", STARTERS["pack_window"]), ("gold", PACK_WINDOW)):
        Submission.of(played("pack_window", source), name).save(tmp_path)
    assert command.main(["diff", "pack_window", "--folder", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "+++ gold.cu" in said
    assert "+        float mine = __shfl_sync(" in said


# ---------------------------------------------------------------- the card


@pytest.mark.parametrize("module", [card, hole], ids=lambda module: module.__name__)
def test_examples_in_the_documentation_hold(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(Fraction(1), "1.00 x"), (Fraction(10_001, 10_000), "1.01 x"), (0, "0.00 x")],
)
def test_only_gold_is_shown_as_one(ratio, text):
    assert card.times(ratio) == text


@pytest.mark.parametrize("hole", holes.HOLES)
def test_stored_card_is_small(hole):
    shown = GolfCard(played(hole, STARTERS[hole]))
    stored = json.dumps([repr(shown), shown.static_html()])
    assert len(stored) < MOST_STORED


def test_card_tells_all_that_is_counted():
    text = repr(played("transpose", PADDED))
    for words in ("gold medal", "race-free", "1.00 x ideal (3,072)", "barriers",
                  "registers", "costs most: line 27"):  # fmt: skip
        assert words in text


def test_counts_of_shared_atomics_are_labelled():
    assert "(2,048), label ptx" in repr(played("histogram", GOLD["histogram"]))
    assert "label ptx" not in repr(played("transpose", PADDED))


def test_card_escapes_what_players_write():
    score = played("transpose", PADDED)
    line = score.source.split("\n")[score.costliest.number - 1]
    spiked = replace(score, source=score.source.replace(line, f"{line} // <b>"))
    assert "<b>" in card.text(spiked)
    assert "// <b>" not in card.html(spiked)


def test_card_plays_an_edited_text():
    shown = GolfCard(played("pack_window", STARTERS["pack_window"]))
    shown.asked = {"text": PACK_WINDOW, "turn": 1}
    assert shown.answered == {"turn": 1, "trouble": ""}
    assert shown.score.medal == "gold"


def test_card_keeps_the_best_text():
    shown = GolfCard(played("pack_window", PACK_WINDOW))
    shown.asked = {"text": STARTERS["pack_window"], "turn": 1}
    assert shown.score.medal == ""
    assert shown.best.medal == "gold"
    assert shown.leader == WINDOW


@pytest.mark.parametrize("text", ["", "  \n", "golf.cu", "int a"])
def test_card_says_what_is_wrong_with_a_text(text):
    shown = GolfCard(played("pack_window", STARTERS["pack_window"]))
    shown.asked = {"text": text, "turn": 1}
    said = shown.answered["trouble"] + shown.shown["trouble"]
    assert len(said.split("\n")) >= 2


def test_card_submits_its_best(tmp_path):
    shown = GolfCard(played("pack_window", PACK_WINDOW))
    assert read(shown.submit("Ada", tmp_path)).counts == dict(window().counts)


def test_kernel_compiled_in_a_cell_can_be_played():
    kernel = ck.compile(PACK_WINDOW)["pack"]
    assert playing.source_of(kernel) == WINDOW == playing.source_of(kernel.module)


def test_macros_of_the_call_are_no_part_of_a_submission():
    module = ck.compile(PADDED, defines={"X": 1})
    with pytest.raises(ck.ArgumentError, match="compiled with -DX=1"):
        ck.golf("transpose", module)


def test_launch_with_numbers_of_one_size_is_refused():
    kernel = ck.compile(PACK_WINDOW)["pack"]
    with pytest.raises(ck.ArgumentError, match=r"golf got pack\[4, 256\], a launch"):
        ck.golf("pack_window", kernel[4, 256])


def test_what_has_no_source_cannot_be_played():
    with pytest.raises(ck.ArgumentError, match="golf got int"):
        ck.golf("transpose", 3)


def test_equal_counts_tie():
    score = played("transpose", PADDED)
    other = replace(score, source="// another text\n", sha256="")
    assert score.rank == other.rank


def test_fewer_registers_break_a_tie():
    score = played("transpose", PADDED)
    assert replace(score, registers=score.registers - 1).rank < score.rank


@pytest.mark.parametrize("folder", [5, ["work"], b"work"])
def test_what_is_no_folder_has_no_board(folder):
    with pytest.raises(ck.ArgumentError, match="which is no folder"):
        ck.leaderboard(folder)
