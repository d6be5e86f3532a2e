; Java

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(annotation_type_declaration name: (_) @name body: (_) @body) @class
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method

[(line_comment) (block_comment)] @comment

(import_declaration [(scoped_identifier) (identifier)] @module) @import
(import_declaration [(scoped_identifier) (identifier)] @module (asterisk) @imported) @import

(method_invocation name: (identifier) @callee)
(object_creation_expression type: (type_identifier) @callee)
(object_creation_expression type: (generic_type (type_identifier) @callee))
