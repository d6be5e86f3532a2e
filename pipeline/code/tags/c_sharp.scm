; C#

(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_)? @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(enum_declaration name: (_) @name body: (_)? @body) @class
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_)? @body) @method
(local_function_statement name: (_) @name body: (_)? @body) @function

(comment) @comment

(using_directive [(identifier) (qualified_name)] @module .) @import

(invocation_expression function: (identifier) @callee)
(invocation_expression function: (generic_name (identifier) @callee))
(invocation_expression function: (member_access_expression name: (identifier) @callee))
(invocation_expression function: (member_access_expression name: (generic_name (identifier) @callee)))
(object_creation_expression type: (identifier) @callee)
(object_creation_expression type: (generic_name (identifier) @callee))
