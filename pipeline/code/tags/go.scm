; Go

(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @receiver)) name: (_) @name body: (_)? @body) @method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @class
(type_spec name: (_) @name type: (interface_type . (_) @body)) @class
(type_spec name: (_) @name type: (_)) @class
(method_elem name: (_) @name) @method

(type_declaration . (type_spec) @inner .) @wrapper
(comment) @comment

(import_spec path: (_) @module) @import

(call_expression function: (identifier) @callee)
(call_expression function: (selector_expression field: (_) @callee))
