function c = cross3(a, b)
% c = cross3(a, b)   cross product of two vectors of three, a column
%
% See also hat, dot3
  c = [a(2) * b(3) - a(3) * b(2); a(3) * b(1) - a(1) * b(3); a(1) * b(2) - a(2) * b(1)];
end
