"""An IPython session inside the test process; a plugin for the tests that need one."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SETTINGS = Config(
    {
        "HistoryManager": {"enabled": False},
        "InteractiveShell": {"colors": "nocolor"},
    }
)


class Session:
    """Cells that run one after the other, and what they wrote."""

    def __init__(self, shell, capsys):
        self.shell = shell
        self.capsys = capsys

    def run(self, cell):
        """Run a cell; an error is kept for `fail`, and must not go unnoticed."""
        result = self.shell.run_cell(cell)
        output = self.capsys.readouterr().out
        result.raise_error()
        return output

    def fail(self, cell):
        """Run a cell that fails; return what the reader sees, and the error."""
        result = self.shell.run_cell(cell)
        assert not result.success
        return self.capsys.readouterr().out, result.error_in_exec

    def __getitem__(self, name):
        return self.shell.user_ns[name]


@pytest.fixture
def session(tmp_path, monkeypatch, capsys):
    """Start a session with coursekit loaded and a compile cache of its own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=SETTINGS)
    session = Session(shell, capsys)
    session.run("%load_ext coursekit\nimport coursekit as ck")
    yield session
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()
