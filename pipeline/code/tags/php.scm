; PHP

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_)? @body) @method

(comment) @comment

(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @module)) @import
(namespace_use_declaration
  (namespace_name) @module body: (namespace_use_group (namespace_use_clause . (_) @imported))) @import
([
  (include_expression [(string) (encapsed_string)] @module)
  (include_once_expression [(string) (encapsed_string)] @module)
  (require_expression [(string) (encapsed_string)] @module)
  (require_once_expression [(string) (encapsed_string)] @module)
  (include_expression (binary_expression right: [(string) (encapsed_string)] @module))
  (include_once_expression (binary_expression right: [(string) (encapsed_string)] @module))
  (require_expression (binary_expression right: [(string) (encapsed_string)] @module))
  (require_once_expression (binary_expression right: [(string) (encapsed_string)] @module))
]) @import

(function_call_expression function: (name) @callee)
(function_call_expression function: (qualified_name (name) @callee))
(member_call_expression name: (name) @callee)
(nullsafe_member_call_expression name: (name) @callee)
(scoped_call_expression name: (name) @callee)
(object_creation_expression (name) @callee)
(object_creation_expression (qualified_name (name) @callee))
