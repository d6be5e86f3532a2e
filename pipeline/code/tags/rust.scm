; Rust

(struct_item name: (_) @name body: (_)? @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(union_item name: (_) @name body: (_) @body) @class
(trait_item name: (_) @name body: (_) @body) @class
(type_item name: (_) @name) @class
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(impl_item type: (_) @name) @scope

[(line_comment) (block_comment)] @comment
(attribute_item) @attribute

(use_declaration argument: (_) @module) @import
(extern_crate_declaration name: (_) @module) @import

(call_expression function: (identifier) @callee)
(call_expression function: (field_expression field: (field_identifier) @callee))
(call_expression function: (scoped_identifier name: (identifier) @callee))
(call_expression function: (generic_function function: (identifier) @callee))
(call_expression function: (generic_function function: (scoped_identifier name: (identifier) @callee)))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @callee)))
(macro_invocation macro: (identifier) @callee)
(macro_invocation macro: (scoped_identifier name: (identifier) @callee))
