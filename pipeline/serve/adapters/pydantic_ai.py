"""The toolset for PydanticAI over a memory; needs the extra ``pydantic-ai``."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing, Fault, InputError
from pipeline.retrieve.question import remarks
from pipeline.serve.access import Grant
from pipeline.serve.mcp.service import Call, Service
from pipeline.serve.mcp.tools.table import Tool, domain_tools
from pipeline.serve.signature import Signature, warned

try:
    from pydantic_ai import FunctionToolset, ModelRetry, ToolFailed
    from pydantic_ai import Tool as AgentTool
except ImportError as error:
    raise ExtraMissing.of("pydantic-ai", error) from error


class HopRankMemoryToolset(FunctionToolset[Any]):
    """The tools of the MCP server for one memory: ``memory_recall``, ``memory_remember``, ``memory_fact`` and others.

    Names, descriptions and arguments are those of the server, but that the agent can't name another memory.
    ``read_only`` leaves out the tools that write. Those that write run one after another, in the order of the calls,
    and all run in threads. A tool's metadata says whether it is ``read_only`` and ``destructive``, to filter by or to
    ask for approval.

    What the agent can correct, an InputError, becomes a ModelRetry, and a Fault a ToolFailed, with HopRank's message
    and fix.

    Example::

        agent = Agent(model, toolsets=[HopRankMemoryToolset(hoprank, "team")])
    """

    def __init__(
        self, hoprank: HopRank, memory: str = "memory", *, read_only: bool = False, max_retries: int | None = None
    ) -> None:
        call = Call(Service(lambda: hoprank, hoprank.settings.serve), Grant())
        tools = [replace(tool, fixed={"memory": memory}) for tool in domain_tools(["memory"], read_only=read_only)]
        super().__init__(
            [_agent_tool(call, tool) for tool in tools], id=f"hoprank-memory-{memory}", max_retries=max_retries
        )


def _agent_tool(call: Call, tool: Tool) -> AgentTool[Any]:
    signature = tool.signature()
    made = AgentTool[Any].from_schema(
        _function(call, tool, signature),
        tool.name,
        tool.description,
        signature.input_schema,
        sequential=not tool.read_only,
    )
    made.metadata = {"read_only": tool.read_only, "destructive": tool.destructive}
    return made


def _function(call: Call, tool: Tool, signature: Signature) -> Callable[..., dict[str, Any]]:
    def function(**arguments: Any) -> dict[str, Any]:
        try:
            given = signature.read(arguments)
            with remarks() as warnings:
                result = tool.function(call, **given)
        except InputError as error:
            raise ModelRetry(str(error)) from error
        except Fault as error:
            raise ToolFailed(str(error)) from error
        return warned(signature.dump(result), warnings)

    return function
