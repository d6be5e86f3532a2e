; C++, besides c.scm

(class_specifier name: (_) @name body: (_) @body) @class
(function_definition
  declarator: (reference_declarator (function_declarator declarator: (_) @name)) body: (_) @body) @function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @method
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @method
(field_declaration declarator: (reference_declarator (function_declarator declarator: (_) @name))) @method

(template_declaration [(class_specifier) (struct_specifier) (function_definition) (declaration)] @inner) @wrapper

(call_expression function: (qualified_identifier name: (identifier) @callee))
(call_expression function: (template_function name: (identifier) @callee))
(new_expression type: (type_identifier) @callee)
