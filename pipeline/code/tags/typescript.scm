; TypeScript, besides javascript.scm

(abstract_class_declaration name: (_) @name body: (class_body) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(type_alias_declaration name: (_) @name value: (_) @body) @class
(function_signature name: (_) @name) @function
(method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
(abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method

(ambient_declaration (_) @inner) @wrapper

(import_require_clause source: (string) @module) @import
