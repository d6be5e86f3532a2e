"""The ONNX graph of a BERT encoder with its pooling, made from the files of the model, without PyTorch.

It holds ONNX Runtime's fused operators, which otherwise its optimiser would have to find in an export. So it takes the
bundled model from its files to vectors with neither PyTorch nor sentence-transformers installed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

_FUSED = "com.microsoft"
_OPSETS = (("", 18), (_FUSED, 1))
_IR_VERSION = 9  # of opset 18's time: every ONNX Runtime from 1.16 reads it
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def bert_graph(folder: Path) -> ModelProto:
    """Return the graph of the BERT encoder in ``folder``, with mean pooling.

    Its inputs are ``input_ids``, ``attention_mask`` and ``token_type_ids``, int64 of shape ``(texts, tokens)``, padded
    at the end; its output is ``vector``, float32 of shape ``(texts, dimension)``, not normalised.

    Source: Devlin et al. 2019, BERT; the operators are documented in ONNX Runtime's ContribOperators.md.
    """
    configuration = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    encoder = _Encoder(configuration, load_file(folder / "model.safetensors"))
    encoder.embed()
    for layer in range(configuration["num_hidden_layers"]):
        encoder.attend(f"encoder.layer.{layer}.")
    encoder.pool()
    tokens = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in _INPUTS]
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["texts", configuration["hidden_size"]])
    graph = helper.make_graph(encoder.nodes, "bert", tokens, [vector], encoder.constants)
    opsets = [helper.make_opsetid(domain, number) for domain, number in _OPSETS]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)


@dataclass
class _Encoder:
    """The nodes of the graph as far as they are made; ``hidden`` names the output of the last layer."""

    configuration: Mapping[str, Any]
    weights: Mapping[str, npt.NDArray[np.float32]]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    hidden: str = ""

    def embed(self) -> None:
        """Add up the embeddings of words, places and segments, and normalise."""
        casts = [self._node("Cast", [name], to=TensorProto.INT32) for name in _INPUTS]
        ids, mask, segments = casts
        tables = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
        inputs = [ids, segments, *map(self._weight, [*tables, *_norm("embeddings.LayerNorm")]), mask]
        self.hidden = self._node("EmbedLayerNormalization", inputs, ["embedded", "lengths"], _FUSED, **self._epsilon)

    def attend(self, layer: str) -> None:
        """Add a layer: attention and feed-forward, each added to its input and normalised."""
        parts = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
        weights = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        biases = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        packed = [self._constant(f"{layer}weights", weights), self._constant(f"{layer}biases", biases)]
        heads = self.configuration["num_attention_heads"]
        attended = self._node("Attention", [self.hidden, *packed, "lengths"], [], _FUSED, num_heads=heads)
        self._add(self._product(attended, f"{layer}attention.output.dense"), f"{layer}attention.output")
        wide = self._product(self.hidden, f"{layer}intermediate.dense")
        active = self._node("BiasGelu", [wide, self._weight(f"{layer}intermediate.dense.bias")], [], _FUSED)
        self._add(self._product(active, f"{layer}output.dense"), f"{layer}output")

    def pool(self) -> None:
        """Average the tokens that the mask admits."""
        mask = self._node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        last, tokens = (self._constant(f"axis {axis}", np.array([axis], dtype=np.int64)) for axis in (2, 1))
        mask = self._node("Unsqueeze", [mask, last])
        total = self._node("ReduceSum", [self._node("Mul", [self.hidden, mask]), tokens], keepdims=0)
        count = self._node("ReduceSum", [mask, tokens], keepdims=0)
        self._node("Div", [total, count], ["vector"])

    @property
    def _epsilon(self) -> dict[str, float]:
        return {"epsilon": self.configuration["layer_norm_eps"]}

    def _add(self, value: str, block: str) -> None:
        weights = map(self._weight, [*_norm(f"{block}.LayerNorm"), f"{block}.dense.bias"])
        inputs = [value, self.hidden, *weights]
        self.hidden = self._node("SkipLayerNormalization", inputs, [], _FUSED, **self._epsilon)

    def _product(self, value: str, dense: str) -> str:
        name = f"{dense}.weight"
        return self._node("MatMul", [value, self._constant(name, self.weights[name].T)])

    def _weight(self, name: str) -> str:
        return self._constant(name, self.weights[name])

    def _constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _node(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str] = (), domain: str = "", **attributes: Any
    ) -> str:
        outputs = outputs or [f"value {len(self.nodes)}"]
        self.nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs[0]


def _norm(name: str) -> tuple[str, str]:
    return f"{name}.weight", f"{name}.bias"
