function d = dot3(a, b)
% d = dot3(a, b)   scalar product of two vectors of three
%
% See also cross3
  d = a(1) * b(1) + a(2) * b(2) + a(3) * b(3);
end
