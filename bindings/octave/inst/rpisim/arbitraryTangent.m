function t = arbitraryTangent(normal)
% t = arbitraryTangent(normal)   a unit vector at right angles to a normal, 3 x 1
%
% See also preDynamics
  n = normal(:);
  if abs(n(3)) < 0.7
    t = cross3(n, [0; 0; 1]);
  else
    t = cross3(n, [0; 1; 0]);
  end
  t = t / norm(t);
end
