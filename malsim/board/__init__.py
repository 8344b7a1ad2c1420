"""The board: how each memory does in every family of questions, collected from the families that compute it."""

from malsim.board.build_board import MemoryBoard, board

__all__ = ["MemoryBoard", "board"]
